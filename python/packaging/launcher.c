// The command `outcore` of the wheel: runs the entry that the extension module of the package exports, so that the
// engine is installed once. `backend.py` compiles it with:
//
//     VERSION     the version of the package
//     MODULE      the module of an editable install; a wheel's is looked for beside the command
//     python.h    INTERPRETER(name) for each symbol of Python that the module refers to
//
// No interpreter runs. What the module refers to in Python is bound to the pointers below, which the command never uses.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INTERPRETER(name) void *name;
#include "python.h"

#ifdef MODULE
static const char *const PLACES[] = {MODULE};
#else
// Below the folder that holds `bin`: of environments and systems, of Debian, of `pip install --target`.
static const char *const PLACES[] = {
    "/lib*/python3*/site-packages/outcore/_outcore.abi3.so",
    "/lib*/python3*/dist-packages/outcore/_outcore.abi3.so",
    "/outcore/_outcore.abi3.so",
};
#endif

// Writes the folder above that of this command as a pattern: special characters are quoted. Returns its length, or 0.
static size_t quoted_prefix(char *prefix) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    size_t quoted = 0;
    for (int level = 0; level < 2; level++)
        while (length > 0 && path[--length] != '/')
            ;
    for (ssize_t i = 0; i < length; i++) {
        if (strchr("*?[\\", path[i]))
            prefix[quoted++] = '\\';
        prefix[quoted++] = path[i];
    }
    return quoted;
}

// The module of this version, or NULL.
static void *module(void) {
    char pattern[3 * PATH_MAX];
    size_t prefix = 0;
#ifndef MODULE
    prefix = quoted_prefix(pattern);
#endif
    for (size_t place = 0; place < sizeof PLACES / sizeof *PLACES; place++) {
        glob_t paths;
        strcpy(pattern + prefix, PLACES[place]);
        if (glob(pattern, 0, NULL, &paths) != 0)
            continue;
        for (size_t i = 0; i < paths.gl_pathc; i++) {
            void *opened = dlopen(paths.gl_pathv[i], RTLD_NOW);
            const char *(*version)(void) = opened ? (const char *(*)(void))dlsym(opened, "outcore_version") : NULL;
            if (version && strcmp(version(), VERSION) == 0)
                return opened;
            if (!opened)
                fprintf(stderr, "outcore: %s\n", dlerror());
        }
        globfree(&paths);
    }
    return NULL;
}

int main(void) {
    // As Rust's own start does: an end of a pipe is an error of a write, and a file never gets number 0, 1 or 2. Unlike
    // there, writes to a standard output that was closed fail: see `fill_standard_descriptors` in crates/io.
    signal(SIGPIPE, SIG_IGN);
    for (int number = 0; number < 3; number++)
        if (fcntl(number, F_GETFD) < 0)
            number == STDOUT_FILENO ? socket(AF_UNIX, SOCK_STREAM, 0) : open("/dev/null", O_RDWR);
    void *opened = module();
    int (*command)(void) = opened ? (int (*)(void))dlsym(opened, "outcore_command") : NULL;
    if (!command) {
        fprintf(stderr, "outcore: expected the Python package outcore " VERSION " beside this command, found none; "
                        "install it again\n");
        return 1;
    }
    return command();
}
