/**
 * What groups of errors may share although their messages differ: the class with the start of the message, or
 * the class with the place in the code. Free text in messages would otherwise make a group of each job.
 */
import { hashOf } from './fingerprint.ts'
import { CLASS } from './key.ts'

const PREFIX_CHARS = 40

/** The fold keys of an error, by its shape. They look like fingerprints, and bulk actions accept them. */
export function foldKeys(kind: string, shape: string, frame: string | null): string[] {
  const name = CLASS.exec(shape)?.[0] ?? ''
  const start = shape.slice(name.length, name.length + PREFIX_CHARS)
  const byStart = hashOf([kind, 'start', name, start])
  return frame === null ? [byStart] : [byStart, hashOf([kind, 'frame', name, frame])]
}

/** The common start of all of these shapes, up to the end of a word. */
export function commonStart(shapes: readonly string[]): string {
  const [first = '', ...rest] = shapes
  let length = first.length
  for (const shape of rest) {
    let same = 0
    while (same < length && shape[same] === first[same]) same += 1
    length = same
  }
  if (length === first.length) return first
  return `${first.slice(0, length).replace(/\S+$/, '').trimEnd()} …`.trimStart()
}
