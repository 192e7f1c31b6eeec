// Restate: the server calls a handler in this process over HTTP/2, and records each `ctx.run` in its log. The
// jobs are calls of that handler through the server, each of which waits for the result.
import * as restate from '@restatedev/restate-sdk'
import { connect } from '@restatedev/restate-sdk-clients'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { versionOf } from '../measure/versions.ts'
import type { Place, StepRunner, StepWork, System } from '../system.ts'

const silent = (): void => {}

interface Input {
  readonly job: number
  readonly steps: number
}

async function openSteps({ url: admin }: Place): Promise<StepRunner> {
  let work: StepWork | undefined
  const stepping = restate.service({
    // The cells share the server, so each has a service of its own.
    name: `stepping${process.pid}`,
    handlers: {
      async run(ctx: restate.Context, { job, steps }: Input): Promise<{ ok: boolean }> {
        await work?.started()
        for (let step = 0; step < steps; step += 1) {
          await ctx.run(`step ${step}`, () => {
            work?.ran(job, step)
            return { ok: true }
          })
        }
        return { ok: true }
      },
    },
  })
  const endpoint = createServer(restate.createEndpointHandler({ services: [stepping], logger: silent }))
  endpoint.listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  const { port } = endpoint.address() as AddressInfo
  const deployment = await request<{ id: string }>(`${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
  })
  const { ingress_endpoint: ingress } = await request<{ ingress_endpoint: string }>(`${admin}/version`)
  const client = connect({ url: ingress }).serviceClient<typeof stepping>({ name: stepping.name })
  return {
    async run(given) {
      work = given
      const { steps } = given
      await Promise.all(Array.from({ length: given.jobs }, (_, job) => client.run({ job, steps })))
    },
    async stop() {
      await request(`${admin}/deployments/${deployment.id}?force=true`, { method: 'DELETE' })
      endpoint.close()
    },
  }
}

async function request<Answer>(url: string, how?: RequestInit): Promise<Answer> {
  const response = await fetch(url, how)
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

export const systems: readonly System[] = [
  {
    name: 'restate',
    store: 'restate',
    setting: 'default',
    settings: 'one handler over HTTP/2, called through the server',
    version: `${versionOf('@restatedev/restate-sdk')}, server ${versionOf('@restatedev/restate-server')}`,
    keeps: 'call, result and each step for a day, in its own server; a recorded step survives a power cut',
    openSteps,
  },
]
