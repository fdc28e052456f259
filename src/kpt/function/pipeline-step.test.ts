import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PipelineFunction } from '../package/kptfile-value.ts'
import { getFunctionName } from './pipeline-step.ts'

function named(more: Partial<PipelineFunction>): string {
  const none = {
    image: undefined,
    exec: undefined,
    tag: undefined,
    configPath: undefined,
    configMap: new Map(),
    selectors: [],
    exclude: [],
    notEvaluated: [],
    line: 1,
  }
  return getFunctionName({ ...none, ...more })
}

test('names a function after the last part of its image, without tag and digest', () => {
  assert.equal(named({ image: 'set-labels' }), 'set-labels')
  assert.equal(named({ image: 'localhost:5000/a/set-labels:v0.2.0' }), 'set-labels')
  assert.equal(named({ image: `ghcr.io/a/b/set-labels@sha256:${'a'.repeat(64)}` }), 'set-labels')
})

test('names a program without its folder, arguments and file extension', () => {
  assert.equal(named({ exec: 'set-labels' }), 'set-labels')
  assert.equal(named({ exec: './bin/check.mjs --strict' }), 'check')
  assert.equal(named({ exec: 'functions/set-labels/run.ts' }), 'set-labels')
  assert.equal(named({ exec: 'node functions/team.mjs' }), 'team')
  assert.equal(named({ exec: 'node' }), 'node')
  assert.equal(named({ exec: 'run' }), 'run')
})
