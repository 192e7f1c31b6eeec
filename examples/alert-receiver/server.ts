/**
 * Receives alerts of Jobmill, and prints each of them once. Run it with node
 * examples/alert-receiver/server.ts, with the secret in ALERT_SECRET.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isSigned } from './verify.ts'

const secret = process.env['ALERT_SECRET'] ?? ''
/**
 * Ids of received messages: a repeated delivery has the same id. Store them in a database if this process may
 * restart.
 */
const seen = new Set<string>()

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  if (!isSigned({ headers: request.headers, body, secret, now: Date.now() })) {
    response.writeHead(401).end()
    return
  }
  const id = String(request.headers['webhook-id'])
  if (!seen.has(id)) {
    seen.add(id)
    const { type, data } = JSON.parse(body) as { type: string; data: { rule: string; message: string } }
    console.log(`${type} ${data.rule}: ${data.message}`)
  }
  response.writeHead(204).end()
}

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
})

server.listen(Number(process.env['PORT'] ?? 8080))
