import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { detectSequenceIndent } from './yaml-sequence-indent.ts'

describe('the first list below a key determines the list indentation', () => {
  const rows: readonly (readonly [text: string, indent: 'compact' | 'wide'])[] = [
    ['', 'compact'],
    ['a: 1\n', 'compact'],
    ['a:\n- b\n', 'compact'],
    ['a:\n  - b\n', 'wide'],
    ['a:\r\n  - b\r\n', 'wide'],
    ['a:\n    - b\nc:\n  - d\n', 'wide'],
    ['a:\n    - b\nc:\n- d\n', 'compact'],
    ['a: # why\n  # what\n\t# not a comment line to kpt\n  - b\n', 'compact'],
    ['a: # why\n  # what\n  - b\n', 'wide'],
    ['a:\n\n  - b\n', 'compact'],
    ['a: [x,\n  y: z]\nb:\n  - c\n', 'wide'],
    ['- a:\n    - b\n', 'compact'],
    ['- a:\n  - b\n', 'wide'],
    ['a: |\n  b:\n    - c\nd:\n- e\n', 'wide'],
    ['a:\n  -\n    b: 1\nc:\n  - d\n', 'wide'],
    ['"a:b":\n  - c\nd:\n- e\n', 'compact'],
  ]
  for (const [text, indent] of rows)
    it(JSON.stringify(text), () => assert.equal(detectSequenceIndent(text), indent))
})
