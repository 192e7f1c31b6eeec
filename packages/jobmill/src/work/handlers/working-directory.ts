/** Restricts commands to one directory, whatever links and dots a payload uses. */
import { realpathSync, statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { invalidValue } from '../../job/errors.ts'
import { checkText } from './child-options.ts'

/** The real path of an existing root. */
export function checkRoot(root: unknown, field: string): string {
  const path = checkText(root, field, 'OPTION_INVALID')
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
  } catch {
    // Reported below, like any other path that is not a directory.
  }
  const fix = 'Create it first, or pass an existing directory'
  throw invalidValue(field, root, 'must be an existing directory', fix)
}

/** The real path of a directory inside `root`. Relative paths start there. */
export async function directoryInside(root: string, value: unknown, field: string): Promise<string> {
  const path = resolve(root, checkText(value, field, 'PAYLOAD_INVALID'))
  const real = await realDirectory(path)
  if (real === null) {
    const fix = 'Create it before the job runs, or omit it'
    throw invalidValue(field, value, 'must be an existing directory', fix, 'PAYLOAD_INVALID')
  }
  if (isInside(root, real)) return real
  const fix = 'Use a directory inside the root, or omit it'
  throw invalidValue(field, value, 'is outside of the root that commands may run in', fix, 'PAYLOAD_INVALID')
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'])

async function realDirectory(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : null
  } catch (error) {
    // Any other error, such as too many open files, may be transient.
    if (error instanceof Error && 'code' in error && NOT_THERE.has(String(error.code))) return null
    throw error
  }
}
