/**
 * Programs as jobs: `commandJob` runs those on its list, and nothing else, without a shell. Who enqueues a job chooses the arguments
 * and the input, and the variables that the options name.
 */
import { commandJob, jobmill } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'

const command = commandJob({
  programs: ['sort', 'ls'],
  root: import.meta.dirname,
  payloadEnv: ['LC_ALL'],
  maxAttempts: 1,
})
const mill = jobmill({ store: sqlite(':memory:'), jobs: [command], log: 'silent' })
await mill.start()

const sorted = await mill.enqueue(command, { argv: ['sort', '-r'], stdin: 'a\nc\nb\n', timeout: '10s' })
console.log(`sort     ${JSON.stringify((await sorted.result()).stdout)}`)

// In the root; `cwd` may name a folder inside of it.
const listed = await mill.enqueue(command, { argv: ['ls'], env: { LC_ALL: 'C' } })
console.log(
  `ls       ${(await listed.result()).stdout
    .split('\n')
    .filter((name) => name === 'command.ts')
    .join()}`,
)

// A program that ends with anything but 0 has failed; the end of what it wrote on stderr is in the error.
const failing = await mill.enqueue(command, { argv: ['ls', '/no/such/folder'] })
await failing.result().catch((error: unknown) => console.log(`failed   ${String(error)}`))

// What is not on the list never runs: the job is dead at once.
const forbidden = await mill.enqueue(command, { argv: ['rm', '-rf', 'everything'] })
await forbidden.result().catch((error: unknown) => console.log(`refused  ${String(error)}`))

await mill.stop()
