import { isBlankOrEnd, type YamlCursor } from './read-yaml-cursor.ts'

const FLOW_INDICATOR = /[,[\]{}]/
const NOT_PLAIN = new Set('-?:,[]{}#&*!|>\'"%@`')

export function canStartPlain(cursor: YamlCursor, character: string): boolean {
  const code = cursor.getCode(1)
  // go-yaml accepts a lone "-" inside brackets; YAML and other readers do not.
  if (character === '-')
    return (
      code !== 32 &&
      code !== 9 &&
      (cursor.flowLevel === 0 || !FLOW_INDICATOR.test(cursor.text.charAt(cursor.at + 1)))
    )
  if (character === '?' || character === ':') return cursor.flowLevel === 0 && !isBlankOrEnd(code)
  return !NOT_PLAIN.has(character) && !isBlankOrEnd(cursor.getCode())
}
