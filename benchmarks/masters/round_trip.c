/* A message of so many bytes there and back over the loopback, between two processes, and nothing else.
 *
 * round_trip BYTES ROUNDS: prints the least time of a round trip in rounds of 300, µs. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void whole(int handle, char *data, int size, int is_read) {
    while (size > 0) {
        ssize_t n = is_read ? read(handle, data, (size_t)size) : write(handle, data, (size_t)size);
        if (n <= 0) exit(0);
        data += n;
        size -= (int)n;
    }
}

int main(int count, char **words) {
    int size = count > 1 ? atoi(words[1]) : 80, rounds = count > 2 ? atoi(words[2]) : 12, one = 1;
    char *data = calloc((size_t)size, 1);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 1)) return 1;
    getsockname(listening, (struct sockaddr *)&address, &length);
    if (fork() == 0) {
        int handle = accept(listening, NULL, NULL);
        setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (;;) {
            whole(handle, data, size, 1);
            whole(handle, data, size, 0);
        }
    }
    int handle = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(handle, (struct sockaddr *)&address, length)) return 1;
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    double least = 1e9;
    for (int i = 0; i < rounds; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int j = 0; j < 300; j++) {
            whole(handle, data, size, 0);
            whole(handle, data, size, 1);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double spent = 1e6 * (double)(end.tv_sec - begin.tv_sec) + 1e-3 * (double)(end.tv_nsec - begin.tv_nsec);
        if (spent / 300 < least) least = spent / 300;
    }
    printf("%.3f\n", least);
    return 0;
}
