/**
 * `npm run mutants`: puts each fault into a copy of the sources, and runs the simulator or a test to find it.
 * Exits with 1 when a fault was not found. `--only TEXT` selects the faults whose name contains this text.
 */
import { parseArgs } from 'node:util'
import { type PostgresServer, startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { allAtOnce } from './all-at-once.ts'
import { withCopy } from './copy.ts'
import type { Mutant } from './mutant.ts'
import { failingWithoutFault, tested } from './run-tests.ts'
import { run } from './run.ts'
import { SIMULATED } from './simulated.ts'
import { TESTED } from './tested.ts'

const SEEDS = 500

/** The rule and the seed that found the fault; null when the simulator did not find it. */
function simulated(mutant: Mutant): Promise<string | null> {
  return withCopy(mutant, async (folder) => {
    const args = [
      '--import',
      './test/support/programs/jobmill-sources.ts',
      'proof/simulate/main.ts',
      '--until-broken',
    ]
    const { code, output } = await run(folder, [...args, '--seeds', String(SEEDS)])
    if (code === 0) return null
    const [, seed, rule] = /seed (\d+): ([^:]+):/.exec(output) ?? []
    if (seed === undefined)
      throw new Error(`${mutant.name}: the simulator did not run.\n${output.slice(-2_000)}`)
    return `${rule}, seed ${seed}`
  })
}

let server: PostgresServer | undefined
async function serverUrl(): Promise<string> {
  server ??= await startPostgres({ binaries: 'current' })
  return server.url
}

function askedFor(): string {
  try {
    return parseArgs({ options: { only: { type: 'string', default: '' } } }).values.only
  } catch (error) {
    console.error(`mutants: ${(error as Error).message}\nnpm run mutants -- [--only TEXT]`)
    process.exit(2)
  }
}

const only = askedFor()
const isAsked = ({ name }: Mutant): boolean => name.includes(only)
const forTests = TESTED.filter(isAsked)
const searches = [
  ...SIMULATED.filter(isAsked).map((mutant) => ({ mutant, file: null, search: () => simulated(mutant) })),
  ...forTests.map((mutant) => ({
    mutant,
    file: mutant.test.file,
    search: async () => tested(mutant, await serverUrl()),
  })),
]
if (searches.length === 0) {
  console.error(`mutants: --only: no name has "${only}" in it`)
  process.exit(2)
}
let missed = 0
let unproven = 0
let failing: ReadonlySet<string> = new Set()

async function look({ mutant, file, search }: (typeof searches)[number]): Promise<void> {
  if (file !== null && failing.has(file)) {
    unproven += 1
    return console.log(`NOT RUN ${mutant.name}: ${file} fails without a fault`)
  }
  const proof = await search()
  if (proof === null) missed += 1
  console.log(proof === null ? `MISSED  ${mutant.name}` : `found   ${mutant.name}: ${proof}`)
}

try {
  if (forTests.length > 0) failing = await failingWithoutFault(forTests, await serverUrl())
  await allAtOnce(searches, look)
} finally {
  await server?.stop()
}
console.log(`${searches.length} mutants, ${missed} missed, ${unproven} not run`)
process.exitCode = missed + unproven === 0 ? 0 : 1
