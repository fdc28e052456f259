/** The style that an object has after a way through JSON (kyaml `filtersutil.ApplyToJSON`), as kpt then writes it. */
import { resolveGoScalar } from '../../src/yaml/go-scalar.ts'
import { isNull, type YamlList, type YamlMap, type YamlNode, type YamlScalar } from '../../src/yaml/yaml-node.ts'

/** YAML 1.1 reads `12:30` as a number to the base of 60, so go-yaml puts it in quotes. */
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/**
 * Quotes only where a text needs them, lists and maps in block style. Comments and the order of keys stay, because kpt puts
 * them back after each function. Integers and dates keep their text: the original writes 1000000 as `1e+06` and a date as a
 * time, which nobody can want.
 */
export function plainStyle(node: YamlNode): void {
  if (node.kind === 'map') {
    if (node.entries.length > 0) asBlock(node)
    for (const { key, value } of node.entries) {
      if (key.kind === 'scalar') asText(key)
      plainStyle(value)
    }
  } else if (node.kind === 'list') {
    if (node.items.length > 0) asBlock(node)
    node.items.forEach(plainStyle)
  } else if (node.kind === 'scalar') {
    plainScalar(node)
  }
}

/** A block cannot have a comment after it: go-yaml would write it after the next node. */
function asBlock(node: YamlMap | YamlList): void {
  if (node.style === 'flow') node.lineComment = ''
  node.style = 'block'
}

function plainScalar(node: YamlScalar): void {
  if (node.style !== 'plain' || node.tag === '!!str') asText(node)
  else if (isNull(node)) node.value = 'null'
  else if (node.tag === '') {
    const read = resolveGoScalar(node.value, true)
    const value = read.is === 'value' ? read.value : undefined
    // `yes` and its kind are text to the functions' YAML, though kubectl reads a boolean.
    if (typeof value === 'string' || (typeof value === 'boolean' && !/^(true|false)$/i.test(node.value))) asText(node)
    else if (typeof value === 'boolean') node.value = String(value)
    else if (typeof value === 'number' && node.value.includes('.') && Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6) {
      node.value = String(value)
    }
  }
}

function asText(node: YamlScalar): void {
  node.tag = '!!str'
  node.style = node.value.includes('\n') ? 'literal' : BASE_60.test(node.value) ? 'double' : 'plain'
}
