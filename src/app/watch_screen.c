/*
 * Shows pages on a terminal with ncurses: keys, colours, resizing, and leaving
 * the terminal as it was.  Draws what it is given and decides nothing.
 *
 * Every wait is one for a key, bounded by the time of the next look.  Signals
 * only set a flag: the terminal is restored by the loop's end.
 */
#include "src/app/watch.h"

#ifdef TRI_HAVE_CURSES
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A signal or a change of size is seen within so long. */
#define KEY_MS 200
/* Looks take at most this share of the time. */
#define LOOK_SHARE 0.2

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
    stopped = sig;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *tri_watch_lacks(void)
{
    const char *term = getenv("TERM");

    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
        return "there is no terminal";
    }
    return term && *term && strcmp(term, "dumb") != 0
                   ? NULL
                   : "the terminal has no screen (TERM)";
}

/* ---- colours --------------------------------------------------------- */

static attr_t styles[TRI_STYLE_COUNT];

static void colour(tri_style style, short pair, short foreground)
{
    init_pair(pair, foreground, -1);
    styles[style] |= COLOR_PAIR(pair);
}

static void choose_styles(void)
{
    const char *none = getenv("NO_COLOR");

    styles[TRI_STYLE_DIM] = A_DIM;
    styles[TRI_STYLE_BOLD] = A_BOLD;
    styles[TRI_STYLE_TITLE] = A_REVERSE;
    styles[TRI_STYLE_CHOSEN] = A_BOLD;
    styles[TRI_STYLE_GOOD] = A_BOLD;
    styles[TRI_STYLE_WARN] = A_BOLD;
    styles[TRI_STYLE_BAD] = A_BOLD;
    if ((none && *none) || !has_colors() || start_color() != OK) {
        return;
    }
    use_default_colors();
    colour(TRI_STYLE_GOOD, 1, COLOR_GREEN);
    colour(TRI_STYLE_WARN, 2, COLOR_YELLOW);
    colour(TRI_STYLE_BAD, 3, COLOR_RED);
    colour(TRI_STYLE_CHART, 4, COLOR_CYAN);
}

/* ---- the screen ------------------------------------------------------ */

typedef struct screen {
    tri_watch watch;
    tri_app_standing standing;
    char notice[512];
    double next_s; /* when to look again */
    int utf8;
} screen;

static void show_row(const tri_canvas *c, int row)
{
    const tri_cell *cells = &c->cells[(size_t)row * (size_t)c->columns];

    move(row, 0);
    for (int i = 0; i < c->columns; i++) {
        if (cells[i].ch) {
            attrset(styles[cells[i].style]);
            addnwstr(&cells[i].ch, 1);
        }
    }
}

static void draw(screen *s)
{
    tri_canvas c;

    if (tri_canvas_init(&c, LINES, COLS, s->utf8) != 0) {
        return; /* the page before stands until there is memory */
    }
    tri_watch_draw(&s->watch, &s->standing, &c);
    erase();
    for (int row = 0; row < c.rows; row++) {
        show_row(&c, row);
    }
    attrset(A_NORMAL);
    refresh();
    tri_canvas_fini(&c);
}

static void look(screen *s, const tri_watch_source *source, double interval_s)
{
    double began = now_s();
    double took;

    s->watch.notice = NULL;
    if (source->look(source->ctx, &s->standing) != TRI_OK) {
        snprintf(s->notice, sizeof s->notice, "%s", tri_error_last()->sentence);
        s->watch.notice = s->notice;
    }
    took = now_s() - began;
    s->next_s = now_s() + fmax(interval_s, took / LOOK_SHARE);
}

static void turn(screen *s, int by)
{
    int page = ((int)s->watch.page + by + TRI_WATCH_PAGES) % TRI_WATCH_PAGES;

    s->watch.page = (tri_watch_page)page;
    s->watch.scroll = 0;
}

static int is_end_of_input(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* What a key does; returns 0 to leave. */
static int press(screen *s, int key)
{
    int height = LINES > 6 ? LINES - 5 : 1;

    if (key >= '1' && key < '1' + TRI_WATCH_PAGES) {
        turn(s, key - '1' - (int)s->watch.page);
        return 1;
    }
    switch (key) {
    case 'q':
    case 'Q':
        return 0;
    case '\t':
    case KEY_RIGHT:
        turn(s, 1);
        break;
    case KEY_BTAB:
    case KEY_LEFT:
        turn(s, -1);
        break;
    case KEY_DOWN:
        s->watch.scroll += 1;
        break;
    case KEY_UP:
        s->watch.scroll -= 1;
        break;
    case KEY_NPAGE:
    case ' ':
        s->watch.scroll += height;
        break;
    case KEY_PPAGE:
        s->watch.scroll -= height;
        break;
    case KEY_HOME:
        s->watch.scroll = 0;
        break;
    case ERR:
        return !is_end_of_input();
    default: /* KEY_RESIZE too: the page is drawn anew */
        break;
    }
    return 1;
}

static void run(screen *s, const tri_watch_source *source, double interval_s)
{
    int key = KEY_RESIZE;

    do {
        int looks = now_s() >= s->next_s;

        if (looks) {
            look(s, source, interval_s);
        }
        if (looks || key != ERR) {
            draw(s);
        }
        key = getch();
    } while (!stopped && press(s, key));
}

tri_status tri_watch_screen(const tri_watch_source *source, double interval_s)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction act = {.sa_handler = stop};
    screen s = {.next_s = 0};
    SCREEN *terminal;

    setlocale(LC_CTYPE, "");
    s.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    set_escdelay(50);
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal) {
        return TRI_FAIL(TRI_EUNBUILT, "the terminal '%s' is not known here",
                        getenv("TERM"));
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &act, NULL);
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    timeout(KEY_MS);
    choose_styles();
    run(&s, source, interval_s);
    endwin();
    delscreen(terminal);
    return TRI_OK;
}

#else

const char *tri_watch_lacks(void)
{
    return "this trireme was built without ncurses, which scripts/deps "
           "installs";
}

tri_status tri_watch_screen(const tri_watch_source *source, double interval_s)
{
    (void)source;
    (void)interval_s;
    return TRI_FAIL(TRI_EUNBUILT, "this build has no ncurses");
}
#endif
