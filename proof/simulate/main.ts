/** `npm run simulate`: simulates many seeds on all cores. Exits with 1 if a guarantee was violated. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { problemWith } from '../json-file.ts'
import { addTo, type Counts } from './seeds/counts.ts'
import { DEPLOYS_EVERY, simulateDeploys } from './deploys/simulate-deploys.ts'
import { OUTAGES_EVERY, simulateOutages } from './faults/outages.ts'
import { OptionError, type Options, readOptions, USAGE } from './options.ts'
import { simulateSeeds } from './seeds/seeds.ts'
import { simulate } from './simulate.ts'
import { historyText } from './tell.ts'

async function run(options: Options): Promise<number> {
  const { first, seeds, short, json } = options
  const began = performance.now()
  let done = 0
  let violations = 0
  let shownAt = began
  const broken: number[] = []
  const happened: Counts = {}
  const fingerprints = new Map<number, string>()
  await simulateSeeds(options, (one) => {
    done += 1
    violations += one.violations.length
    addTo(happened, one.happened)
    fingerprints.set(one.seed, one.fingerprint)
    if (one.violations.length > 0) broken.push(one.seed)
    for (const { rule, message } of one.violations.slice(0, 3))
      console.log(`seed ${one.seed}: ${rule}: ${message}`)
    if (performance.now() - shownAt > 5_000) {
      shownAt = performance.now()
      console.log(`${done} of ${seeds} seeds, ${violations} violations`)
    }
  })
  const seconds = (performance.now() - began) / 1_000
  const digest = digestOf(fingerprints)
  console.log(`${sentenceOf(happened)}. History ${digest.slice(0, 16)}`)
  console.log(
    `${done} ${done === 1 ? 'seed' : 'seeds'} from ${first} on, ${violations} violations, ${seconds.toFixed(0)} s`,
  )
  if (json !== undefined)
    writeFileSync(
      json,
      `${JSON.stringify({ seeds: done, violations, first, broken, happened, digest }, null, 2)}\n`,
    )
  if (seeds === 1 && broken.length > 0) {
    console.log(historyText(await simulate(first, { short })))
    if (first % OUTAGES_EVERY === 0) console.log(historyText(await simulateOutages(first)))
    if (first % DEPLOYS_EVERY === 0) console.log(historyText(await simulateDeploys(first, { short })))
  }
  if (seeds > 1 && broken.length > 0)
    console.log(`again, in full: npm run simulate -- ${short ? '--short ' : ''}--seed ${String(broken[0])}`)
  return violations === 0 ? 0 : 1
}

/** The digest of all histories in the order of their seeds, independent of the machine. */
function digestOf(fingerprints: ReadonlyMap<number, string>): string {
  const inOrder = [...fingerprints].toSorted(([a], [b]) => a - b).map(([, fingerprint]) => fingerprint)
  return createHash('sha256').update(inOrder.join()).digest('hex')
}

/** Summarizes the events that make the histories meaningful. */
function sentenceOf(happened: Counts): string {
  const count = (what: string): string => (happened[what] ?? 0).toLocaleString('en')
  const troubles = ['kills', 'stills', 'stops', 'cuts', 'outages']
    .map((what) => `${count(what)} ${what}`)
    .join(', ')
  return `${count('acknowledged')} jobs acknowledged, ${count('claimed')} leases; ${troubles}, ${count('steps')} clock steps`
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === null) console.log(USAGE)
  else {
    const unwritable = problemWith(options.json)
    if (unwritable !== null) throw new OptionError(unwritable)
    process.exitCode = await run(options)
  }
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`simulate: ${error.message}`)
  process.exitCode = 2
}
