/** Reads a config: a module whose default export is the options of `jobmill()`. */
import { access } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { JobmillError, shown } from '../job/errors.ts'
import type { MillOptions } from '../runtime/options.ts'

const NAMES = ['jobmill.config.ts', 'jobmill.config.js', 'jobmill.config.mjs']

/** Without a path, the first of the usual names that is there. */
export async function loadConfig(given: string | undefined, cwd: string): Promise<MillOptions> {
  const file = given === undefined ? await usual(cwd) : path.resolve(cwd, given)
  const loaded = await load(file)
  const options: unknown = loaded.default
  if (typeof options !== 'object' || options === null) {
    throw new JobmillError('OPTION_INVALID', 'has no options of a mill as its default export', {
      field: file,
      value: shown(options),
      fix: 'Write export default { store, jobs }',
    })
  }
  return options as MillOptions
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
  try {
    await access(file)
  } catch {
    throw new JobmillError('OPTION_INVALID', 'there is no such file', {
      field: file,
      fix: `Give the path of a config, or make a ${NAMES[0]}`,
    })
  }
  try {
    return (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
  } catch (error) {
    const isUnreadable =
      error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    if (!isUnreadable) throw error
    throw new JobmillError('OPTION_INVALID', 'this Node cannot read TypeScript', {
      field: file,
      fix: 'Use Node 22.18 or newer, or write the config in JavaScript',
      cause: error,
    })
  }
}

async function usual(cwd: string): Promise<string> {
  for (const name of NAMES) {
    const file = path.join(cwd, name)
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file
  }
  throw new JobmillError('OPTION_INVALID', `there is none of ${NAMES.join(', ')} here`, {
    field: 'config',
    fix: 'Give the path of a config',
  })
}
