/** Checks the port and the address to listen on. */
import { isIP } from 'node:net'
import { checkText, checkWhole } from 'jobmill/internal'

export const PORTS = Object.freeze({ least: 0, most: 65_535 })

export function checkAddress(port: unknown, bind: unknown): void {
  checkWhole(port, 'port', PORTS)
  checkText(bind, 'bind', 'Pass an address such as 127.0.0.1, or omit it')
}

/** 127.0.0.0/8 and ::1, including IPv4 mapped to IPv6, in the short form of a URL parser. */
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/

/** Whether only this machine can connect. An address has several spellings: `0:0:0:0:0:0:0:1` is `::1`. */
export function isLoopback(bind: string): boolean {
  if (bind.toLowerCase() === 'localhost') return true
  const version = isIP(bind)
  const url = `http://${version === 6 ? `[${bind}]` : bind}`
  return version !== 0 && URL.canParse(url) && LOOPBACK.test(new URL(url).hostname)
}
