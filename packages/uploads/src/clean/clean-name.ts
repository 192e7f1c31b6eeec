/**
 * What a file is called here, whatever its sender called it: the last part of a path, of letters, digits, dots, dashes and underscores, 100 characters at most. It
 * can be put after a folder and into a header as it is.
 */
const LONGEST_NAME = 100
/** With its dot; a longer one is no ending, but a name with a dot in it. */
const LONGEST_ENDING = 16
const NAMELESS = 'file'

export function cleanName(given: string): string {
  // Browsers on Windows have sent whole paths.
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
