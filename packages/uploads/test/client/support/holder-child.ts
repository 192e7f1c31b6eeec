/** A process that takes the lock of a folder when it is told a file, says whether it got it, and gives it back when it is told so. */
import { hold } from '../../../src/client/hold.ts'

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
