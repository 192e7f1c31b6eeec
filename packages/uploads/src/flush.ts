/** Names that are there after a power cut: a folder keeps what it was told when it is flushed, and not before. */
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

/** With those above it that are missing. Every one that is new is known to the one above it when it resolves. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const highest = path.dirname(path.resolve(first))
  for (let at = path.dirname(path.resolve(folder)); at.length >= highest.length; at = path.dirname(at)) {
    await flushFolder(at)
    if (at === highest) return
  }
}
