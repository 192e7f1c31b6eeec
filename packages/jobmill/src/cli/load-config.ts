/** Reads a config: a module whose default export is the options of `jobmill()`, the store left out when it is the usual one. */
import { access } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { JobmillError, shown } from '../job/errors.ts'
import type { MillOptions } from '../runtime/options.ts'
import { usualStore } from './choose-store.ts'
import { configError } from './config-errors.ts'

const NAMES = ['jobmill.config.ts', 'jobmill.config.mts', 'jobmill.config.js', 'jobmill.config.mjs']

/** Without a path, the first of the usual names that is there. */
export async function loadConfig(given: string | undefined, cwd: string): Promise<MillOptions> {
  const found = await loadIfThere(given, cwd)
  if (found !== null) return found
  throw new JobmillError('OPTION_INVALID', `there is none of ${NAMES.join(', ')} here`, {
    field: 'config',
    fix: 'Give the path of a config',
  })
}

/** Null when none was named and there is none. */
export async function loadIfThere(given: string | undefined, cwd: string): Promise<MillOptions | null> {
  const file = given === undefined ? await usual(cwd) : path.resolve(cwd, given)
  if (file === undefined) return null
  const loaded = await load(file)
  const options: unknown = loaded.default
  if (typeof options !== 'object' || options === null) {
    throw new JobmillError('OPTION_INVALID', 'has no options of a mill as its default export', {
      field: file,
      value: shown(options),
      fix: 'Write export default { jobs }',
    })
  }
  return 'store' in options ? (options as MillOptions) : { ...options, store: await usualStore(process.env) }
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
  if (!(await isThere(file))) {
    throw new JobmillError('OPTION_INVALID', 'there is no such file', {
      field: file,
      fix: `Give the path of a config, or make a ${NAMES[0]}`,
    })
  }
  try {
    return (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
  } catch (error) {
    throw (await configError(error, file)) ?? error
  }
}

async function usual(cwd: string): Promise<string | undefined> {
  for (const name of NAMES) {
    const file = path.join(cwd, name)
    if (await isThere(file)) return file
  }
  return undefined
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
