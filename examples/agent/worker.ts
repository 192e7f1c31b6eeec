/** The process that runs the agent, and that main.ts kills: `worker.ts STORE SERVICES_URL`. */
import { jobmill, type StepContext, stopOnSignals } from 'jobmill'
import { agentJob } from './agent.ts'
import { type ChatCompletion, TOOLS } from './fake-model.ts'
import { storeAt } from './store-at.ts'

const [place = '', services = ''] = process.argv.slice(2)

/** Each step sends one request, with its idempotency key: the services count the runs of each step. */
async function post(path: string, body: unknown, { idempotencyKey, signal }: StepContext): Promise<string> {
  const response = await fetch(new URL(path, services), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(body),
    signal,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
  return text
}

const agent = agentJob({
  async askModel(messages, step) {
    const text = await post('/v1/chat/completions', { model: 'fake-1', messages, tools: TOOLS }, step)
    return (JSON.parse(text) as ChatCompletion).choices[0].message
  },
  callTool: (call, step) => post(`/tools/${call.function.name}`, JSON.parse(call.function.arguments), step),
})

const mill = jobmill({
  store: storeAt(place),
  jobs: [agent],
  // Shorter than the default, so that the killed job runs again after seconds.
  lease: '5s',
  renewEvery: '1s',
  log: 'silent',
})
// The parent process is gone.
process.on('disconnect', () => process.exit(1))
stopOnSignals(mill, { stopped: () => process.exit() })
await mill.start()
