/**
 * Runs programs as jobs. `commandJob` runs only the listed programs, without a shell. The payload sets the
 * arguments, the input and the allowed variables.
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

// Runs in the root; `cwd` may name a subfolder.
const listed = await mill.enqueue(command, { argv: ['ls'], env: { LC_ALL: 'C' } })
console.log(
  `ls       ${(await listed.result()).stdout
    .split('\n')
    .filter((name) => name === 'command.ts')
    .join()}`,
)

// A non-zero exit code fails the attempt. The error contains the end of stderr.
const failing = await mill.enqueue(command, { argv: ['ls', '/no/such/folder'] })
await failing.result().catch((error: unknown) => console.log(`failed   ${String(error)}`))

// A program that is not listed never runs: the job is dead immediately.
const forbidden = await mill.enqueue(command, { argv: ['rm', '-rf', 'everything'] })
await forbidden.result().catch((error: unknown) => console.log(`refused  ${String(error)}`))

await mill.stop()
