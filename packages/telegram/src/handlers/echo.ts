/** Replies with the text of the message. */
import type { Handler } from './handler.ts'

export const echo: Handler = ({ text, reply }) => reply(text)
