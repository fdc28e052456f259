import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { walkPackage } from './walk-package.ts'

function walk(files: { readonly [path: string]: string }): readonly string[] {
  return walkPackage(Object.keys(files), (path) => files[path] ?? '')
}

describe('walkPackage', () => {
  it('reads a package in directory order', () => {
    const files = {
      'a-b.yaml': '',
      'a/z.yaml': '',
      Kptfile: '',
      '.hidden/x.yaml': '',
      'a.yaml': '',
    }
    assert.deepEqual(walk(files), ['.hidden/x.yaml', 'Kptfile', 'a/z.yaml', 'a-b.yaml', 'a.yaml'])
  })

  it('applies the ignore file of the package, but not that of a subpackage above', () => {
    const files = {
      '.krmignore': 'x.yaml\n',
      'x.yaml': '',
      'o/x.yaml': '',
      'sub/Kptfile': '',
      'sub/x.yaml': '',
      'sub/.krmignore': 'y.yaml',
      'sub/y.yaml': '',
    }
    assert.deepEqual(walk(files), ['.krmignore', 'sub/.krmignore', 'sub/Kptfile', 'sub/x.yaml'])
  })

  it('reads nothing below an ignored folder, including subpackages', () => {
    const files = {
      '.krmignore': 'sub\n!keep.yaml\n',
      'sub/Kptfile': '',
      'sub/keep.yaml': '',
      'a.yaml': '',
    }
    assert.deepEqual(walk(files), ['.krmignore', 'a.yaml'])
  })

  it('requests only ignore files from the list', () => {
    assert.deepEqual(
      walkPackage(['sub/Kptfile', 'a.yaml'], () => assert.fail('asked')),
      ['a.yaml', 'sub/Kptfile'],
    )
  })
})
