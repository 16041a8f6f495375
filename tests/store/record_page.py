"""Checks the page of the record, trireme-record(5), against a real file: every
table, column, type, unit and attribute of the file is on the page, and the other
way round; and runs the page's examples as they stand there.

    record_page.py PAGE PROGRAM FOLDER    PROGRAM FILE.h5 [MS] writes a study
"""
import os
import re
import subprocess
import sys
import time

try:
    import h5py
    import pandas
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

PARAMETERS = ["a", "b", "c", "d", "e", "f", "g", "k"]  # of the study made here
KINDS = {"|u1": "u8", "<i4": "i32", "<i8": "i64", "<u8": "u64", "<f8": "f64"}


def plain(text):
    return text.replace("\\-", "-").replace("\\(dq", '"')


def sections(page, heading):
    """{name: body} of the .SS under a .SH"""
    body = re.search(r'^\.SH %s$(.*?)(?=^\.SH )' % heading, page, re.M | re.S)[1]
    parts = re.split(r'^\.SS (.*)$', body, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def columns_of(body):
    """{column: (kind, unit)} as a table's section lists them"""
    out = {}
    for names, form in re.findall(r'^\.BR "(.*?)" " \((.*?)\)"$', body, re.M):
        kind, _, unit = form.partition(", ")
        for name in names.split(", "):
            out[name] = (kind, unit)
    return out


def kind_of(dtype):
    return "text" if dtype.kind == "S" else KINDS[dtype.str]


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def expect(holds, what):
    if not holds:
        sys.exit("the page and the file differ: " + what)


def check_table(name, set_, body, objective, resource):
    known = {"unit of the objective": objective,
             "that of resource.unit": resource}
    listed = columns_of(body)
    columns = [c for c in set_.dtype.names
               if name != "trials" or c not in PARAMETERS]
    expect(list(listed) == columns, f"/{name}: {list(listed)}, {columns}")
    for column in columns:
        kind, unit = listed[column]
        held = text(set_.attrs[column + ".unit"])
        expect(kind == kind_of(set_.dtype[column]), f"type of {column}")
        expect(known.get(unit, unit or ("" if kind == "text" else "1")) ==
               held.replace("s since 1970", "s") or
               (unit == "s since 1970" and held == "s"),
               f"unit of {column} in /{name}: {unit!r}, {held!r}")


def check_page(page, path):
    tables = sections(page, "TABLES")
    with h5py.File(path) as file:
        sets = {n for n, o in file.items() if isinstance(o, h5py.Dataset)}
        expect({"/" + n for n in sets} == set(tables), f"tables {sets}")
        objective = text(file["runs"].attrs["objective.unit"])
        resource = text(file["runs"].attrs["resource.unit"])
        for name in sorted(sets - {"blobs"}):
            check_table(name, file[name], tables["/" + name], objective,
                        resource)
            expect(len(file[name]) > 0, f"/{name} has no row to look at")
        body = re.search(r'^\.SH ATTRIBUTES AND TEXTS$(.*?)^\.SH ', page,
                         re.M | re.S)[1]
        named = set(re.findall(r'[a-z_0-9]+', " ".join(
            re.findall(r'^\.BR? "?([a-z_0-9, ]+?)"?(?: " .*)?$', body, re.M))))
        held = (set(file.attrs) | set(file["study"].attrs) |
                set(file["study"]))
        expect(named == held, f"attributes {sorted(named ^ held)}")


def examples(page):
    for title, body in sections(page, "EXAMPLES").items():
        yield title, plain(re.search(r'^\.nf\n(.*?)^\.fi', body,
                                     re.M | re.S)[1])


def run(title, code, folder):
    done = subprocess.run([sys.executable, "-W", "error::SyntaxWarning", "-c",
                           code], cwd=folder, text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or len(done.stdout.splitlines()) < 4:
        sys.exit(f"example '{title}' failed:\n{code}\n{done.stdout}")
    print(f"--- {title}\n{done.stdout}")


def follow(code, program, folder):
    """The last example is about a study that runs."""
    path = os.path.join(folder, "study.h5")
    writer = subprocess.Popen([program, path, "200"])
    reports = 0
    try:
        while writer.poll() is None and reports < 6:
            time.sleep(0.1)
            if os.path.exists(path):
                with h5py.File(path, "r", swmr=True) as file:
                    reports = len(file["reports"])
        run("live: the last", code, folder)
        if writer.poll() is not None or reports < 6:
            sys.exit("the study had ended before it was followed")
    finally:
        writer.kill()
        writer.wait()


def empty(folder):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))


def main():
    page_path, program, folder = sys.argv[1:4]
    with open(page_path, encoding="utf-8") as f:
        page = f.read()
    path = os.path.join(folder, "study.h5")
    os.makedirs(folder, exist_ok=True)
    empty(folder)
    done = list(examples(page))
    if len(done) != 3:
        sys.exit(f"{len(done)} examples, not 3")
    follow(done[-1][1], program, folder)
    empty(folder)
    subprocess.run([program, path, "0"], check=True, timeout=60)
    check_page(page, path)
    for title, code in done:
        run(title, code, folder)


if __name__ == "__main__":
    main()
