// Gets chaos ready: libfaketime moves the clocks of single processes. Without it everything else happens, so this is never a reason
// to give up. Runs on Node 20, after scripts/setup.mjs.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const machines = ['aarch64-linux-gnu', 'x86_64-linux-gnu']
const isThere = () => machines.some((machine) => existsSync(`/usr/lib/${machine}/faketime/libfaketime.so.1`))

if (!isThere()) {
  const fix = 'install faketime to have clocks moved too'
  if (process.getuid?.() !== 0) console.log(`chaos setup: there is no libfaketime; ${fix}`)
  else {
    console.log('chaos setup: installing faketime (apt-get)')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const install = () => spawnSync('apt-get', ['install', '-y', 'faketime'], { env, stdio: 'ignore' })
    if (install().status !== 0) {
      // The lists of packages may be missing, or old.
      spawnSync('apt-get', ['update'], { env, stdio: 'ignore' })
      install()
    }
    if (!isThere()) console.log(`chaos setup: that did not work; ${fix}`)
  }
}
