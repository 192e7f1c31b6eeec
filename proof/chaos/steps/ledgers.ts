/** Reads the new lines of ledgers while their processes write, and remembers all of them. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import type { StepLine } from './kinds.ts'

export interface Ledgers {
  readonly lines: readonly StepLine[]
  /** Returns the lines that are new. An incomplete last line is read later, or never. */
  readonly read: (files: readonly string[]) => readonly StepLine[]
  readonly close: () => void
}

interface Ledger {
  readonly handle: number
  /** The bytes of an incomplete last line. */
  rest: Buffer
}

/** What one read returns at most. */
const CHUNK_BYTES = 256 * 1024

export function ledgers(): Ledgers {
  const lines: StepLine[] = []
  /** They stay open: a look at a ledger without new lines is one read. */
  const open = new Map<string, Ledger>()
  const chunk = Buffer.alloc(CHUNK_BYTES)

  function ledgerAt(file: string): Ledger | undefined {
    const known = open.get(file)
    if (known !== undefined || !existsSync(file)) return known
    const ledger = { handle: openSync(file, 'r'), rest: Buffer.alloc(0) }
    open.set(file, ledger)
    return ledger
  }

  function readFile(file: string): StepLine[] {
    const ledger = ledgerAt(file)
    if (ledger === undefined) return []
    const texts: string[] = []
    for (;;) {
      const count = readSync(ledger.handle, chunk)
      if (count === 0) return texts.map((text) => JSON.parse(text) as StepLine)
      const bytes = Buffer.concat([ledger.rest, chunk.subarray(0, count)])
      const end = bytes.lastIndexOf('\n') + 1
      ledger.rest = bytes.subarray(end)
      if (end > 0) texts.push(...bytes.toString('utf8', 0, end - 1).split('\n'))
    }
  }

  return {
    lines,
    read(files) {
      const fresh = files.flatMap(readFile)
      for (const line of fresh) lines.push(line)
      return fresh
    },
    close() {
      for (const { handle } of open.values()) closeSync(handle)
      open.clear()
    },
  }
}
