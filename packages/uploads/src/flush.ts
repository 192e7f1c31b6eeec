/** Makes file names durable: a folder entry survives a power cut only after the folder is flushed. */
import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'

export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates the folder and its missing parents. All of them are durable when it resolves. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const highest = path.dirname(path.resolve(first))
  for (let at = path.dirname(path.resolve(folder)); at.length >= highest.length; at = path.dirname(at)) {
    await flushFolder(at)
    if (at === highest) return
  }
}
