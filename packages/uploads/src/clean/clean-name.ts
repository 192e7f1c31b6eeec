/**
 * Cleans a file name: the last part of a path, with letters, digits, dots, dashes and underscores, at most
 * 100 characters. It is safe in paths and headers.
 */
const LONGEST_NAME = 100
/** Including its dot. A longer suffix is not an extension. */
const LONGEST_ENDING = 16
const NAMELESS = 'file'

export function cleanName(given: string): string {
  // Some browsers on Windows have sent whole paths.
  const last = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1)
  const clean = last.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
  const name = clean.length > LONGEST_NAME ? shortened(clean) : clean
  return name === '' || name === '.' || name === '..' ? NAMELESS : name
}

function shortened(name: string): string {
  const dot = name.lastIndexOf('.')
  const ending = dot === -1 ? '' : name.slice(dot)
  if (ending.length > LONGEST_ENDING) return name.slice(0, LONGEST_NAME)
  return name.slice(0, LONGEST_NAME - ending.length) + ending
}
