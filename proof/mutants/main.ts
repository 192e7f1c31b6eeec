/**
 * `npm run mutants`: puts each fault into a copy of the sources and has the simulator look for it. Ends with 1 when one was not found.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutant, SIMULATED } from './mutants.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SEEDS = 200

/** What the simulator needs. */
const COPIED = [
  'packages/jobmill/src',
  'packages/jobmill/package.json',
  'proof',
  'test/support',
  'package.json',
]

function copyWith({ file, find, replace }: Mutant): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-mutant-'))
  for (const one of COPIED) cpSync(path.join(root, one), path.join(folder, one), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const target = path.join(folder, 'packages/jobmill/src', file)
  const before = readFileSync(target, 'utf8')
  if (before.split(find).length !== 2)
    throw new Error(`${file}: what is to be replaced does not stand there once`)
  writeFileSync(
    target,
    before.replace(find, () => replace),
  )
  return folder
}

interface Found {
  readonly seed: number | undefined
  readonly how: string
}

async function search(mutant: Mutant): Promise<Found | null> {
  const folder = copyWith(mutant)
  try {
    const args = ['--import', './test/support/jobmill-sources.ts', 'proof/simulate/main.ts']
    const child = spawn(process.execPath, [...args, '--until-broken', '--seeds', String(SEEDS)], {
      cwd: folder,
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (output += part))
    const code = await new Promise<number | null>((resolve) => void child.on('close', resolve))
    if (code === 0) return null
    const [, seed, how] = /seed (\d+): ([^:]+):/.exec(output) ?? []
    if (seed === undefined)
      throw new Error(`${mutant.name}: the simulator did not run.\n${output.slice(-2_000)}`)
    return { seed: Number(seed), how: how ?? '' }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let missed = 0
for (const mutant of SIMULATED) {
  const found = await search(mutant)
  if (found === null) missed += 1
  console.log(
    found === null ? `MISSED  ${mutant.name}` : `found   ${mutant.name}: ${found.how}, seed ${found.seed}`,
  )
}
console.log(`${SIMULATED.length} mutants, ${missed} missed`)
process.exitCode = missed === 0 ? 0 : 1
