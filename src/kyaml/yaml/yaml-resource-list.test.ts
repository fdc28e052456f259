import assert from 'node:assert/strict'
import { it } from 'node:test'
import { formatFunctionInput, readFunctionInput } from '@backporch/kpt/function'
import { readYamlNodes } from './read/read-yaml-node.ts'
import { writeYamlNode } from './write/write-yaml-node.ts'
import { createYamlMap, createYamlText, type YamlMap } from './yaml-node.ts'
import { copyLostComments, removeDocumentComments, syncKeyOrder } from './yaml-resource-list.ts'

/** The objects as a program reads them, whom kpt gives them as text. */
function throughResourceList(items: readonly YamlMap[]): readonly YamlMap[] {
  return readFunctionInput(formatFunctionInput({ items, config: undefined }), 'ResourceList').items
}

function read(text: string): YamlMap {
  const [node] = readYamlNodes(text, 'a.yaml')
  assert.ok(node?.kind === 'map')
  return node
}

/** What a function that prints `answer` for `before` leaves. */
function answered(before: string, answer: string): string {
  const object = read(before)
  const [after] = throughResourceList([read(answer)])
  assert.ok(after !== undefined)
  copyLostComments(object, after)
  syncKeyOrder(object, after)
  return writeYamlNode(after)
}

it('a ResourceList has the objects below its items, followed by the config', () => {
  assert.equal(
    formatFunctionInput({
      items: [read('# head\na:\n  - b # line\n'), read('c: d\n')],
      config: createYamlMap([['e', createYamlText('f')]]),
    }),
    'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- # head\n  a:\n  - b # line\n- c: d\nfunctionConfig:\n  e: f\n',
  )
})

it('restores comments that a function lost, by key and by position', () => {
  const before = '# head\na: 1 # one\n# of b\nb:\n- x # item\n- y # other\nc: {d: e} # braces\n'
  assert.equal(
    answered(before, 'a: 2\nb:\n- x\n- z\nc: {d: e}\nnew: 1\n'),
    before.replace('1', '2').replace('y # other', 'z').concat('new: 1\n'),
  )
})

it('keeps comments that a function wrote', () => {
  assert.equal(answered('a: 1 # one\n', 'a: 1 # two\n'), 'a: 1 # two\n')
})

it('restores the order of keys, with new ones last', () => {
  assert.equal(
    answered('c: 1\na:\n  z: 1\n  y: 2\nb: 3\n', 'a:\n  n: 0\n  y: 2\n  z: 1\nb: 3\nc: 1\nd: 4\n'),
    'c: 1\na:\n  z: 1\n  y: 2\n  n: 0\nb: 3\nd: 4\n',
  )
})

it('a folded block becomes double quoted', () => {
  assert.equal(answered('a: >\n  x\n  y\n', 'a: >\n  x\n  y\n'), 'a: "x y\\n"\n')
})

it('does not restore the comment of an alias below a key, but restores that of one in a list', () => {
  const before = 'a: &x 1\nb: *x # lost\nc:\n- *x # kept\n'
  assert.equal(answered(before, 'a: &x 1\nb: *x\nc:\n- *x\n'), before.replace(' # lost', ''))
})

it('omits document comments from the input, and restores them without their empty line', () => {
  const object = read('# licence\n\n# head\na: 1\n\n# end\n')
  const sent = removeDocumentComments(object)
  assert.equal(writeYamlNode(sent), '# head\na: 1\n')
  const [after] = throughResourceList([sent])
  assert.ok(after !== undefined)
  copyLostComments(object, after)
  assert.equal(writeYamlNode(after), '# licence\n# head\na: 1\n\n# end\n')
})
