// Property tests use the same cases in every run, so that a failure comes from a change and not from chance.
// JOBMILL_SEED=… sets the seed; JOBMILL_RUNS=… without a seed draws new cases.
import { configureGlobal } from 'fast-check'

const { JOBMILL_SEED, JOBMILL_RUNS } = process.env

if (JOBMILL_SEED !== undefined) configureGlobal({ seed: Number(JOBMILL_SEED) })
else if (JOBMILL_RUNS === undefined) configureGlobal({ seed: 20_261_115 })
