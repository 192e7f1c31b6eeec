// Property tests draw the same cases in every run, so that a run says something about the change and not about the dice. To look
// further: JOBMILL_SEED=… replays or chooses, and JOBMILL_RUNS=… without a seed draws anew.
import { configureGlobal } from 'fast-check'

const { JOBMILL_SEED, JOBMILL_RUNS } = process.env

if (JOBMILL_SEED !== undefined) configureGlobal({ seed: Number(JOBMILL_SEED) })
else if (JOBMILL_RUNS === undefined) configureGlobal({ seed: 20_261_115 })
