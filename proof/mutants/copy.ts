/** A copy of the sources in a folder of its own, with a fault in it or as they are. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutant.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What the simulator and the tests need. */
const COPIED = [
  'packages/jobmill/src',
  'packages/jobmill/test',
  'packages/jobmill/package.json',
  // The programs that tests start are bundled from these too.
  'packages/tables/src',
  'packages/telegram/src',
  'packages/telegram/test/support',
  'packages/uploads/src',
  'packages/uploads/test',
  'proof',
  'test',
  'package.json',
  'vitest.config.ts',
]

/** The folder is gone when `use` is through. */
export async function withCopy<T>(mutant: Mutant | null, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-mutant-'))
  try {
    for (const one of COPIED) cpSync(path.join(root, one), path.join(folder, one), { recursive: true })
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    if (mutant !== null) change(path.join(folder, 'packages/jobmill/src', mutant.file), mutant)
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function change(target: string, { file, find, replace }: Mutant): void {
  const before = readFileSync(target, 'utf8')
  if (before.split(find).length !== 2)
    throw new Error(`${file}: what is to be replaced does not stand there once`)
  writeFileSync(
    target,
    before.replace(find, () => replace),
  )
}
