/** The tag a scalar has by its text, which go-yaml's nodes carry and ours, that hold tags as they are written, do not. */
import { writtenTag, type YamlScalar } from '@backporch/kyaml/yaml'

const TAGS = ['!!int', '!!float', '!!bool', '!!null', '!!timestamp', '!!merge']

/** `!!str`, `!!int`, ... as go-yaml v3 resolves it (`resolve.go`); the written tag where there is one. */
export function impliedTag(scalar: YamlScalar): string {
  if (scalar.tag !== '') return scalar.tag
  if (scalar.style !== 'plain') return '!!str'
  // A tag that need not be written is the one that the text has.
  return TAGS.find((tag) => writtenTag({ ...scalar, tag, source: undefined }) === '') ?? '!!str'
}
