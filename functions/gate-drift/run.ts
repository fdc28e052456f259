#!/usr/bin/env node
import { gateDrift } from '../../src/drift-functions/gate-drift/gate-drift.ts'
import { runFunction } from '../sdk/run-function.ts'

await runFunction(gateDrift)
