/**
 * `npm run mutants`: puts each fault into a copy of the sources, and has the simulator or a test look for it. Ends with 1 when one was not found.
 * `--only TEXT` for those whose name has this text in it.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type PostgresServer, startPostgres } from '../../test/support/postgres-server.ts'
import { withCopy } from './copy.ts'
import type { Mutant, TestedMutant } from './mutant.ts'
import { run } from './run.ts'
import { SIMULATED } from './simulated.ts'
import { TESTED } from './tested.ts'

const SEEDS = 200

/** What found it; null when nothing did. */
type Found = string | null

function simulated(mutant: Mutant): Promise<Found> {
  return withCopy(mutant, async (folder) => {
    const args = ['--import', './test/support/jobmill-sources.ts', 'proof/simulate/main.ts', '--until-broken']
    const { code, output } = await run(folder, [...args, '--seeds', String(SEEDS)])
    if (code === 0) return null
    const [, seed, rule] = /seed (\d+): ([^:]+):/.exec(output) ?? []
    if (seed === undefined)
      throw new Error(`${mutant.name}: the simulator did not run.\n${output.slice(-2_000)}`)
    return `${rule}, seed ${seed}`
  })
}

interface Report {
  readonly numFailedTests: number
  readonly numPassedTests: number
}

function tested(mutant: TestedMutant, url: string): Promise<Found> {
  return withCopy(mutant, async (folder) => {
    const { file, name } = mutant.test
    const report = path.join(folder, 'report.json')
    const args = ['node_modules/vitest/vitest.mjs', 'run', file, '-t', name, '--reporter', 'json']
    // One server for all of them; the older one has nothing to add here.
    const servers = { TEST_DATABASE_URL: url, TEST_DATABASE_URL_OLD: url }
    const { output } = await run(folder, [...args, '--outputFile', report], servers)
    const { numFailedTests, numPassedTests } = reportIn(report, output)
    if (numFailedTests === 0 && numPassedTests === 0)
      throw new Error(`${mutant.name}: no test of ${file} is called "${name}", or none ran.\n${output}`)
    return numFailedTests === 0 ? null : `${file}, "${name}"`
  })
}

function reportIn(file: string, output: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch (cause) {
    throw new Error(`the tests did not run.\n${output.slice(-2_000)}`, { cause })
  }
}

let server: PostgresServer | undefined
async function serverUrl(): Promise<string> {
  server ??= await startPostgres({ binaries: 'current' })
  return server.url
}

const { only } = parseArgs({ options: { only: { type: 'string', default: '' } } }).values
const isAsked = ({ name }: Mutant): boolean => name.includes(only)
const searches = [
  ...SIMULATED.filter(isAsked).map((mutant) => ({ mutant, search: () => simulated(mutant) })),
  ...TESTED.filter(isAsked).map((mutant) => ({
    mutant,
    search: async () => tested(mutant, await serverUrl()),
  })),
]
let missed = 0
try {
  for (const { mutant, search } of searches) {
    const found = await search()
    if (found === null) missed += 1
    console.log(found === null ? `MISSED  ${mutant.name}` : `found   ${mutant.name}: ${found}`)
  }
} finally {
  await server?.stop()
}
console.log(`${searches.length} mutants, ${missed} missed`)
process.exitCode = missed === 0 && searches.length > 0 ? 0 : 1
