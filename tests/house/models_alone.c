/*
 * Every object of the models in one program without MPI: that it links is the
 * test; models_alone.sh looks at what it loads.
 */
int main(void)
{
    return 0;
}
