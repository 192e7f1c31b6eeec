/** Tests the faulty proxy of the chaos run: each fault has its effect, and ends when it is switched off. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { proxy } from '../../proof/chaos/proxy.ts'

/** A server that answers with the same text in capitals. */
async function anEcho(): Promise<{ readonly port: number; readonly received: string[] }> {
  const received: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received.push(bytes.toString())
      socket.write(bytes.toString().toUpperCase())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, received }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

async function exchange(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString()
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setImmediate(resolve))
}

test('forwards everything, and closes every connection when it is cut', async () => {
  const { port } = await anEcho()
  const way = await proxy(port)
  onTestFinished(() => way.close())
  const socket = await dial(way.port)
  expect(await exchange(socket, 'one')).toBe('ONE')
  const closed = once(socket, 'close')
  expect(way.cut()).toBe(1)
  await closed
  expect(await exchange(await dial(way.port), 'two')).toBe('TWO')
})

test('when silent it drops one or both directions, and closes the affected connections afterwards', async () => {
  const { port, received } = await anEcho()
  const way = await proxy(port)
  onTestFinished(() => way.close())
  const [deaf, mute] = [await dial(way.port), await dial(way.port)]
  expect([await exchange(deaf, 'a'), await exchange(mute, 'b')]).toEqual(['A', 'B'])
  way.silence('to client')
  mute.write('received')
  await until(() => received.includes('received') && way.swallowed === 1)
  way.silence('both')
  deaf.write('unheard')
  const closed = Promise.all([once(deaf, 'close'), once(mute, 'close')])
  // The answer to the first client, and the message of the second.
  await until(() => way.swallowed === 2)
  way.mend()
  await closed
  expect(received).not.toContain('unheard')
  expect(await exchange(await dial(way.port), 'well')).toBe('WELL')
})

test('redirects new connections to another server on request', async () => {
  const [one, two] = [await anEcho(), await anEcho()]
  const way = await proxy(one.port)
  onTestFinished(() => way.close())
  await exchange(await dial(way.port), 'a')
  way.pointTo(two.port)
  await exchange(await dial(way.port), 'b')
  expect([one.received, two.received]).toEqual([['a'], ['b']])
})
