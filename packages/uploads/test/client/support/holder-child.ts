/** A process that locks a folder on request, reports whether it got the lock, and releases it on request. */
import { hold } from '../../../src/client/folder/hold.ts'

let release: (() => Promise<void>) | null = null
const say = (word: string): void => void process.send?.(word)

process.on('message', (file: string) => {
  void (async () => {
    if (file !== 'release') {
      release = await hold(file, 'the folder').catch(() => null)
      return say(release === null ? 'busy' : 'got')
    }
    await release?.()
    release = null
    say('released')
  })()
})
say('ready')
