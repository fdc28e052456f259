#!/usr/bin/env node
import { gateDrift } from '../../src/drift-functions/gate-drift/gate-drift.ts'
/** `kpt fn eval --exec functions/gate-drift/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'

await runFunction(gateDrift)
