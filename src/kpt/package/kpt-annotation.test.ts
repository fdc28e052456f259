import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  findAnnotatedWorkspace,
  formatKptAnnotation,
  type KptAnnotation,
  parseKptAnnotations,
} from './kpt-annotation.ts'

const DRIFT: KptAnnotation = {
  packagePath: 'apps/web',
  workspace: 'drift-20261120',
  revision: '0',
  task: { type: 'edit', source: 'repo.apps.web.v1' },
}
const LINE =
  'kpt:{"package":"apps/web","workspaceName":"drift-20261120","revision":"0","task":{"type":"edit","edit":{"sourceRef":{"name":"repo.apps.web.v1"}}}}'

describe('formatKptAnnotation', () => {
  it('writes the line that Porch writes', () => {
    assert.equal(formatKptAnnotation(DRIFT), LINE)
    assert.equal(
      formatKptAnnotation({ packagePath: 'a', workspace: 'w', revision: '3', task: undefined }),
      'kpt:{"package":"a","workspaceName":"w","revision":"3"}',
    )
  })

  it('writes one line for all names, which reads back unchanged', () => {
    const text = fc.string()
    const task = fc.option(
      fc.record(
        { type: fc.constantFrom('edit', 'init', 'clone'), source: text },
        { noNullPrototype: true },
      ),
      {
        nil: undefined,
      },
    )
    fc.assert(
      fc.property(
        fc.record(
          { packagePath: text, workspace: text, revision: text, task },
          { noNullPrototype: true },
        ),
        (annotation) => {
          const line = formatKptAnnotation(annotation)
          assert.equal(line.includes('\n'), false)
          assert.deepEqual(parseKptAnnotations(`subject\n\n${line}\n\nTrailer: x\n`), {
            annotations: [annotation],
            problems: [],
          })
        },
      ),
    )
  })
})

describe('parseKptAnnotations', () => {
  it('finds several lines, also indented ones, but only at the beginning of a line', () => {
    const message = `Approving\n\n  ${LINE}\r\nsee kpt:{"package":"no"}\nkpt:{"package":"b","revision":"v8"}\n`
    assert.deepEqual(
      parseKptAnnotations(message).annotations.map(({ packagePath, revision }) => [
        packagePath,
        revision,
      ]),
      [
        ['apps/web', '0'],
        ['b', 'v8'],
      ],
    )
  })

  it('reports a line that is not a JSON mapping, and reads the others', () => {
    const read = parseKptAnnotations(`x\nkpt:{broken\nkpt:[1]\n${LINE}`)
    assert.deepEqual(read.annotations, [DRIFT])
    assert.deepEqual(read.problems, [
      'line 2 of the message begins with kpt: and is not a JSON mapping',
      'line 3 of the message begins with kpt: and is not a JSON mapping',
    ])
  })
})

describe('workspaceIn', () => {
  it('returns the first line with a workspace for the package', () => {
    const other = { ...DRIFT, packagePath: 'apps/api', workspace: 'other' }
    assert.equal(
      findAnnotatedWorkspace([other, { ...DRIFT, workspace: '' }, DRIFT], 'apps/web'),
      'drift-20261120',
    )
    assert.equal(findAnnotatedWorkspace([other], 'apps/web'), undefined)
  })
})
