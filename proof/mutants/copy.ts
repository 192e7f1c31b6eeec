/** A copy of the sources in a temporary folder, with or without a fault. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutant.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The files that the simulator and the tests need. */
const COPIED = [
  'packages/jobmill/src',
  'packages/jobmill/test',
  'packages/jobmill/package.json',
  'packages/conformance/src',
  'packages/server/src',
  'packages/server/test',
  // Tests also bundle child programs from these.
  'packages/tables/src',
  'packages/tables/test',
  'packages/telegram/src',
  'packages/telegram/test',
  'packages/uploads/src',
  'packages/uploads/test',
  'examples/alert-receiver',
  // Tests compare these pages with the code.
  'docs/reference',
  'proof',
  'test',
  'package.json',
  'vitest.config.ts',
]

/** Removes the folder when `use` has ended. */
export async function withCopy<T>(mutant: Mutant | null, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-mutant-'))
  try {
    for (const one of COPIED) cpSync(path.join(root, one), path.join(folder, one), { recursive: true })
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    if (mutant !== null) change(path.join(folder, sourceOf(mutant)), mutant)
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The path of its source file in the repository. */
export function sourceOf({ package: name = 'jobmill', file }: Mutant): string {
  return path.join('packages', name, 'src', file)
}

function change(target: string, { file, find, replace }: Mutant): void {
  const before = readFileSync(target, 'utf8')
  if (before.split(find).length !== 2) throw new Error(`${file}: the text to replace must occur exactly once`)
  writeFileSync(
    target,
    before.replace(find, () => replace),
  )
}
