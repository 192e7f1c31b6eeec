/** The bad way to a server that chaos uses: it must be as bad as it says, and well again when it says so. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { proxy } from '../proof/chaos/proxy.ts'

/** Answers everything with the same, in capitals. */
async function anEcho(): Promise<{ readonly port: number; readonly heard: string[] }> {
  const heard: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard.push(bytes.toString())
      socket.write(bytes.toString().toUpperCase())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, heard }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

async function said(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString()
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setImmediate(resolve))
}

test('passes everything on, and ends every connection when it is cut', async () => {
  const { port } = await anEcho()
  const way = await proxy(port)
  onTestFinished(() => way.close())
  const socket = await dial(way.port)
  expect(await said(socket, 'one')).toBe('ONE')
  const closed = once(socket, 'close')
  expect(way.cut()).toBe(1)
  await closed
  expect(await said(await dial(way.port), 'two')).toBe('TWO')
})

test('in silence the other side hears nothing, or hears and is not heard; what was swallowed ends with it', async () => {
  const { port, heard } = await anEcho()
  const way = await proxy(port)
  onTestFinished(() => way.close())
  const [deaf, mute] = [await dial(way.port), await dial(way.port)]
  expect([await said(deaf, 'a'), await said(mute, 'b')]).toEqual(['A', 'B'])
  way.silence('to client')
  mute.write('heard')
  await until(() => heard.includes('heard') && way.swallowed === 1)
  way.silence('both')
  deaf.write('unheard')
  const closed = Promise.all([once(deaf, 'close'), once(mute, 'close')])
  // What the server answered to the one, and what the other said.
  await until(() => way.swallowed === 2)
  way.mend()
  await closed
  expect(heard).not.toContain('unheard')
  expect(await said(await dial(way.port), 'well')).toBe('WELL')
})

test('leads new connections elsewhere when it is told to', async () => {
  const [one, two] = [await anEcho(), await anEcho()]
  const way = await proxy(one.port)
  onTestFinished(() => way.close())
  await said(await dial(way.port), 'a')
  way.pointTo(two.port)
  await said(await dial(way.port), 'b')
  expect([one.heard, two.heard]).toEqual([['a'], ['b']])
})
