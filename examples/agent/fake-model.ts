/** A model that always answers the same, in the shape of a chat completions API with tool calls. */
import type { Message } from './agent.ts'

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Message[]
  readonly tools: readonly unknown[]
}

type Answer = Extract<Message, { role: 'assistant' }>

export interface ChatCompletion {
  readonly id: string
  readonly object: 'chat.completion'
  readonly model: string
  readonly choices: readonly [
    { readonly index: 0; readonly message: Answer; readonly finish_reason: 'stop' | 'tool_calls' },
  ]
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

/** Describes the tools to the model, with their parameters as JSON Schema. */
export const TOOLS = [
  tool('search_flights', 'Finds flights to a city', 'city'),
  tool('get_weather', 'Returns the weather forecast of a city', 'city'),
  tool('book_flight', 'Books a flight by its number', 'flight'),
]

function tool(name: string, description: string, parameter: string) {
  const properties = { [parameter]: { type: 'string' } }
  const parameters = { type: 'object', properties, required: [parameter] }
  return { type: 'function', function: { name, description, parameters } }
}

export function complete({ model, messages }: ChatRequest): ChatCompletion {
  const turn = messages.filter(({ role }) => role === 'assistant').length + 1
  const message = answerTo(messages, turn)
  return {
    id: `chatcmpl-${turn}`,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: message.tool_calls === undefined ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 40 * messages.length, completion_tokens: 20 },
  }
}

/** Asks for facts first, books the cheapest flight that was found, then answers. */
function answerTo(messages: readonly Message[], turn: number): Answer {
  if (turn === 1)
    return asks(call(1, 'search_flights', { city: 'Lisbon' }), call(2, 'get_weather', { city: 'Lisbon' }))
  const flights = JSON.parse(resultOf(messages, 1)) as { flight: string; price: number }[]
  const [cheapest] = flights.toSorted((a, b) => a.price - b.price)
  if (turn === 2) return asks(call(3, 'book_flight', { flight: cheapest?.flight }))
  const { booking } = JSON.parse(resultOf(messages, 3)) as { booking: string }
  const { forecast } = JSON.parse(resultOf(messages, 2)) as { forecast: string }
  return {
    role: 'assistant',
    content: `Booked ${cheapest?.flight} as ${booking}. The forecast is ${forecast}.`,
  }
}

function asks(...calls: NonNullable<Answer['tool_calls']>): Answer {
  return { role: 'assistant', content: null, tool_calls: calls }
}

function call(n: number, name: string, given: object) {
  return { id: `call_${n}`, type: 'function', function: { name, arguments: JSON.stringify(given) } }
}

function resultOf(messages: readonly Message[], n: number): string {
  const found = messages.find((one) => one.role === 'tool' && one.tool_call_id === `call_${n}`)
  if (found === undefined) throw new Error(`the conversation has no result of call_${n}`)
  return found.content ?? ''
}
