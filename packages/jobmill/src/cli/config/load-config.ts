/** Loads a config: a module whose default export is the options of `jobmill()`. The store is optional. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { invalidValue, JobmillError } from '../../job/errors.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import { isThere, usualStore } from './choose-store.ts'
import { configError } from './config-errors.ts'
import { invalid } from '../program/invalid.ts'

const NAMES = ['jobmill.config.ts', 'jobmill.config.mts', 'jobmill.config.js', 'jobmill.config.mjs']

/** Without a path, loads the first default name that exists. */
export async function loadConfig(
  parsed: string | undefined,
  cwd: string,
  fix = 'Pass the path of a config',
): Promise<MillOptions> {
  const found = await loadIfThere(parsed, cwd)
  if (found !== null) return found
  throw invalid('config', `no config found (looked for ${NAMES.join(', ')})`, fix)
}

/** Returns null when no path was passed and no default config exists. */
export async function loadIfThere(parsed: string | undefined, cwd: string): Promise<MillOptions | null> {
  const file = parsed === undefined ? await findDefault(cwd) : path.resolve(cwd, parsed)
  if (file === undefined) return null
  const loaded = await load(file)
  const options: unknown = loaded.default
  if (typeof options !== 'object' || options === null) {
    const fix = 'Add export default { jobs }'
    throw invalidValue(file, options, 'must have the options of jobmill() as its default export', fix)
  }
  if ('enqueue' in options && typeof options.enqueue === 'function') {
    throw new JobmillError('OPTION_INVALID', 'must have the options of jobmill() as its default export', {
      field: file,
      value: 'a mill',
      fix: 'Remove the call to jobmill(): export default { jobs }',
    })
  }
  return 'store' in options ? (options as MillOptions) : { ...options, store: await usualStore(process.env) }
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
  if (!(await isThere(file))) {
    throw invalid(file, 'file not found', `Pass the path of a config, or create ${NAMES[0]}`)
  }
  const stuck = Promise.withResolvers<never>()
  const refuse = (): void => stuck.reject(invalid(file, 'never finishes loading', NEVER_SETTLES))
  // Node emits this when nothing is left to do. It would then exit without a message.
  process.once('beforeExit', refuse)
  try {
    return await Promise.race([
      import(pathToFileURL(file).href) as Promise<{ readonly default?: unknown }>,
      stuck.promise,
    ])
  } catch (error) {
    throw (await configError(error, file)) ?? error
  } finally {
    process.off('beforeExit', refuse)
  }
}

const NEVER_SETTLES =
  'Look for a top-level await that never settles, such as an import() of a module that imports this one'

async function findDefault(cwd: string): Promise<string | undefined> {
  for (const name of NAMES) {
    const file = path.join(cwd, name)
    if (await isThere(file)) return file
  }
  return undefined
}
