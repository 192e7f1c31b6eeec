/** `npm run simulate`: many seeds, on all cores. Ends with 1 when a promise was broken. */
import { writeFileSync } from 'node:fs'
import { addTo, type Counts } from './counts.ts'
import { OptionError, type Options, readOptions, USAGE } from './options.ts'
import { simulateSeeds } from './seeds.ts'
import { simulate } from './simulate.ts'
import { tellHistory } from './tell.ts'

async function run(options: Options): Promise<number> {
  const { first, seeds, json } = options
  const began = performance.now()
  let done = 0
  let violations = 0
  let shownAt = began
  const broken: number[] = []
  const happened: Counts = {}
  await simulateSeeds(options, (one) => {
    done += 1
    violations += one.violations.length
    addTo(happened, one.happened)
    if (one.violations.length > 0) broken.push(one.seed)
    for (const { rule, told } of one.violations.slice(0, 3)) console.log(`seed ${one.seed}: ${rule}: ${told}`)
    if (performance.now() - shownAt > 5_000) {
      shownAt = performance.now()
      console.log(`${done} of ${seeds} seeds, ${violations} violations`)
    }
  })
  const seconds = (performance.now() - began) / 1_000
  console.log(`${done} seeds from ${first} on, ${violations} violations, ${seconds.toFixed(0)} s`)
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ seeds: done, violations, first, broken, happened }, null, 2)}\n`)
  if (seeds === 1 && broken.length > 0) console.log(tellHistory(await simulate(first)))
  else if (broken.length > 0) console.log(`again, in full: npm run simulate -- --seed ${String(broken[0])}`)
  return violations === 0 ? 0 : 1
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === null) console.log(USAGE)
  else process.exitCode = await run(options)
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`simulate: ${error.message}`)
  process.exitCode = 2
}
