/** Loads a database driver. The drivers are optional peer dependencies, so a driver may be missing. */
import { createRequire } from 'node:module'
import { JobmillError } from '../job/errors.ts'

/** Synchronous, so that `require('jobmill/postgres')` keeps working: a top-level `await` would prevent it. */
export function loadDriver(name: string): unknown {
  const require = createRequire(import.meta.url)
  try {
    require.resolve(name)
  } catch (error) {
    throw new JobmillError('STORE_UNSUPPORTED', `the package ${name} is not installed`, {
      fix: `Run npm install ${name}`,
      cause: error,
    })
  }
  return require(name)
}
