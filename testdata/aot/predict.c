/* Calls a compiled module from C.
 *
 *   hlotool compile predict.hlo -o predict.so --header predict.h
 *   cc predict.c ./predict.so -o predict && ./predict
 */
#include <stdio.h>
#include <stdlib.h>

#include "predict.h"

int main(void)
{
    const float x[2][4] = {{1, 2, 3, 4}, {-1, 0.5f, 0, 2}};
    const float b[3] = {0.1f, 0.2f, 0.3f};
    float probabilities[2][3];
    const void *arguments[PREDICT_ARGUMENTS] = {x, b};
    void *results[PREDICT_RESULTS] = {probabilities};
    void *scratch = aligned_alloc(64, (PREDICT_SCRATCH_BYTES + 63) / 64 * 64 + 64);

    if (sizeof x != PREDICT_ARGUMENT_0_BYTES || predict(arguments, results, scratch) != 0)
        return 1;
    for (int row = 0; row < 2; row++)
        printf("%.6f %.6f %.6f\n", probabilities[row][0], probabilities[row][1],
               probabilities[row][2]);
    free(scratch);
    return 0;
}
