/**
 * The place in the code of an application where an error was thrown: the function and the file of the first
 * stack frame that is not in Node.js, in a dependency or in Jobmill. It has no line numbers, and no folders
 * that differ between deploys, so two versions of an application that fail in the same function agree.
 */
import { maskIds } from './ids.ts'

/**
 * How many lines of the stack are read: the frames of one error. The frames of its causes come after these.
 */
const MOST_LINES = 200
const MOST_LINE_CHARS = 1_000
const MOST_FRAME_CHARS = 120

const NOT_OWN = /[/\\]node_modules[/\\]|[/\\]packages[/\\]jobmill[/\\](?:src|dist)[/\\]|runAttempt of mill \d/
/** Loaded from files, as opposed to `node:internal/…`, `native`, `<anonymous>` and evaluated code. */
const FILE = /^(?:file:|webpack:|https?:)?\/|^[a-z]:[/\\]|^\\\\|^\.{1,2}[/\\]|^[\w@.-]+[/\\]/i
/** Below one of these folders, paths do not depend on where the application is deployed. */
const ROOTS = new Set(['src', 'dist', 'build', 'lib', 'out', 'app', 'server', 'compiled', '.next'])

/** `chargeCard (billing/charge.js)`. Null if no frame is the application's own. */
export function ownFrame(stack: string): string | null {
  for (const line of stack.split('\n', MOST_LINES)) {
    const frame = frameOf(line.slice(0, MOST_LINE_CHARS).trim())
    if (frame !== null) return frame
  }
  return null
}

function frameOf(line: string): string | null {
  if (!line.startsWith('at ') || NOT_OWN.test(line)) return null
  const text = line.slice('at '.length)
  const open = text.endsWith(')') ? text.lastIndexOf(' (') : -1
  const place = (open === -1 ? text.replace(/^async /, '') : text.slice(open + 2, -1)).replace(
    /(?::\d+){1,2}$/,
    '',
  )
  if (place.startsWith('node:') || !FILE.test(place)) return null
  const name = open === -1 ? '' : functionName(text.slice(0, open))
  const frame = name === '' ? fileOf(place) : `${name} (${fileOf(place)})`
  return frame.slice(0, MOST_FRAME_CHARS).toWellFormed()
}

/** Without `async`, `new`, the alias after `[as`, and the type that owns the function. */
function functionName(text: string): string {
  const name = text.replace(/^(?:async )?(?:new )?/, '').replace(/ \[as .*$/, '')
  return name.includes('<anonymous>') ? '' : name.slice(name.lastIndexOf('.') + 1)
}

/** The part of a path below the folder of the sources, or only the name of the file. */
function fileOf(place: string): string {
  const parts = place.replace(/[?#].*$/s, '').split(/[/\\]+/)
  const root = parts.findLastIndex((part, at) => at < parts.length - 1 && ROOTS.has(part))
  return (root === -1 ? parts.slice(-1) : parts.slice(root + 1)).map(stable).join('/')
}

/** Bundlers put a hash of the content into names: `chunk-5GX7KQ2P.js`. */
function stable(part: string): string {
  return maskIds(part)
}

/**
 * The frame at the end of an attempt's log. The line that logs a failure ends with the frame, so that reports
 * find it without reading the whole log. Null if the last line is a different one.
 */
export function frameIn(logEnd: string | null): string | null {
  return /"frame":"([^"\\]{1,120})"\}\}$/.exec(logEnd ?? '')?.[1] ?? null
}
