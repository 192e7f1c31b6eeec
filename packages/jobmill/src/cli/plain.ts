/** What jobs carry may hold anything. What would steer a terminal is shown instead of obeyed. */

// All of C0 but tab and line feed, C1, and what turns the direction of writing around.
// oxlint-disable-next-line no-control-regex -- control characters are what this replaces
const STEERING = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g

/** Its lines and tabs stay. */
export function plain(text: string): string {
  return text.replaceAll(STEERING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function oneLine(text: string): string {
  return plain(text).replaceAll(/\s*[\t\n]\s*/g, ' ')
}
