/** Reads the new lines of ledgers while their processes write, and remembers all of them. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import type { StepLine } from './kinds.ts'

export interface Ledgers {
  readonly lines: readonly StepLine[]
  /** Returns the lines that are new. An incomplete last line is read later, or never. */
  readonly read: (files: readonly string[]) => readonly StepLine[]
}

export function ledgers(): Ledgers {
  const lines: StepLine[] = []
  const readTo = new Map<string, number>()

  function readFile(file: string): StepLine[] {
    if (!existsSync(file)) return []
    const from = readTo.get(file) ?? 0
    const handle = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(fstatSync(handle).size - from)
      readSync(handle, bytes, 0, bytes.length, from)
      const end = bytes.lastIndexOf('\n') + 1
      readTo.set(file, from + end)
      const texts = bytes.toString('utf8', 0, end).split('\n')
      return texts.filter((text) => text !== '').map((text) => JSON.parse(text) as StepLine)
    } finally {
      closeSync(handle)
    }
  }

  return {
    lines,
    read(files) {
      const fresh = files.flatMap(readFile)
      for (const line of fresh) lines.push(line)
      return fresh
    },
  }
}
