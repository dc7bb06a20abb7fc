/* What the engine does with effects, small enough to be looked at from every side: one run, two steps with an intent each,
   two nodes whose children send, leases that run out, a person who approves, rejects, cancels and settles, and a planner
   that ends the run. A pause is no statement here: whoever is not scheduled is paused.

   spin -a settle.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan

   Variants, which hold too:
   -DGATEWAY       sends pass a gate that refuses a dispatch older than the last settlement
   -DDEDUP         the far side keeps the key, a repeat changes nothing
   Mutants, each of which must fail:
   -DNOFENCE       a report is taken without looking at who holds the step
   -DNOCONSUME     a grant stays unused although its effect was sent
   -DANYGRANT      any grant of the run will do
   -DBLINDRETRY    a takeover sends again what was under way
   -DNOQUIESCE     "It did not happen" goes on while the old sender may only be paused
   -DEARLYLOOK     the same, when somebody looked before the old sender was gone
   -DFORGETINTENT  nothing is written down before the send
   -DNOCANCEL      begin does not look at the run
   -DNOTERMINAL    the planner ends a run without looking whether it still runs
   -DNOASK         what became unknown is asked of nobody
   -DHASTYCANCEL   a cancelled run ends without waiting for what is under way */

#define STEPS 2
#define CLAIMS 3                /* of the whole run */
#define EXPIRIES 2
#ifdef DEDUP
#define ANSWERS 1               /* of settles; every repeat beside a living sender multiplies the states */
#else
#define ANSWERS 2
#endif

/* Run */
#define RUNNING 0
#define CANCELLING 1
#define SUCCEEDED 2
#define CANCELLED 3
/* Step */
#define WAITING 0
#define READY 1
#define BUSY 2
#define LOST 3                  /* UNKNOWN in the tables */
#define ENDED 4
/* Intent */
#define PROPOSED 0
#define AUTHORISED 1
#define DISPATCHED 2
#define CONFIRMED 3
#define UNSURE 4                /* UNKNOWN in the tables */
#define ABANDONED 5
#define VOIDED 6
/* Grant */
#define NONE 0
#define GRANTED 1
#define CONSUMED 2
#define TAKENBACK 3
/* What a person said of an unknown outcome and the engine has not applied yet */
#define NOTHING 0
#define HAPPENED 1
#define NOTHAPPENED 2
#define NOBODYKNOWS 3
/* Report of a sender */
#define STOP 0
#define GO 1
#define YES 2
#define NO 3
#define DIED 4

byte state = RUNNING, ends = 0, fence = 0, claims = 0, expiries = 0, answers = 0;
byte step[STEPS], token[STEPS], intent[STEPS], grant[STEPS], said[STEPS];
byte dispatch[STEPS];           /* token of the current dispatch */
byte effects[STEPS];
#ifdef GATEWAY
byte gate[STEPS];
#endif
bool asked[STEPS];              /* a settle is open */
bool gone[STEPS];               /* the sender of the current dispatch is known to be gone */
bool after[STEPS];              /* the person looked after that was known */
bool approved[STEPS];            /* by a person, whatever became of the grant */
bool repeated[STEPS];           /* sent again beside a sender that may live, because the far side keeps the key */

#define LIVE (state == RUNNING || state == CANCELLING)
#define HOLDS(i, my) (step[i] == BUSY && token[i] == my)
#ifdef NOFENCE
#define MAYREPORT(i, my) (step[i] == BUSY)
#else
#define MAYREPORT(i, my) HOLDS(i, my)
#endif
#ifdef ANYGRANT
#define COVERED(i) (grant[0] == GRANTED || grant[1] == GRANTED || grant[i] == CONSUMED)
#define SENDABLE(i) (intent[i] == AUTHORISED || intent[i] == PROPOSED)
#else
#define COVERED(i) (grant[i] == GRANTED || grant[i] == CONSUMED)
#define SENDABLE(i) (intent[i] == AUTHORISED)
#endif
#ifdef NOCANCEL
#define PLANNABLE LIVE
#else
#define PLANNABLE (state == RUNNING)
#endif
#if defined(NOQUIESCE) || defined(GATEWAY)
#define MAYGOON(i) (true)
#else
#ifdef DEDUP
#define MAYGOON(i) (gone[i] || state == RUNNING)
#else
#define MAYGOON(i) (gone[i])
#endif
#endif
#if defined(NOQUIESCE) || defined(GATEWAY) || defined(EARLYLOOK)
#define STILLTRUE(i) (true)
#else
#ifdef DEDUP
#define STILLTRUE(i) (after[i] || state == RUNNING)
#else
#define STILLTRUE(i) (after[i])
#endif
#endif
#define OVER (step[0] == ENDED && step[1] == ENDED)
#ifdef HASTYCANCEL
#define QUIET (step[0] != READY && step[0] != WAITING && step[1] != READY && step[1] != WAITING)
#else
#define QUIET OVER
#endif

/* A terminal state: once, with nothing under way, nothing open, no grant left over. */
inline finish(how) {
  state = how;
  ends++;
  assert(ends == 1);
  for (k : 0 .. STEPS - 1) {
    assert(step[k] == ENDED);
    assert(intent[k] != DISPATCHED && intent[k] != UNSURE);
    assert(!asked[k]);
    assert(grant[k] != GRANTED)
  }
  k = 0
}

/* What every verb does last. */
inline derive() {
  if
  :: state == CANCELLING && QUIET -> finish(CANCELLED)
  :: else
  fi
}

inline lose(i) {
  intent[i] = UNSURE;
  step[i] = LOST;
#ifndef NOASK
  asked[i] = true
#endif
}

inline send(i, my) {
  report = YES;
  if
#ifdef GATEWAY
  :: my < gate[i] -> report = NO
#endif
#ifdef DEDUP
  :: effects[i] == 1
#endif
  :: else -> effects[i]++
  fi;
  assert(effects[i] <= 1);
  assert(approved[i]);
  /* After the end of a run only what a person gave up on may still turn out to have happened. */
  assert(report == NO || LIVE || intent[i] == ABANDONED || repeated[i])
}

/* The child is gone, and its node or the released lock proves it. */
inline proof(i, my) {
  if
  :: dispatch[i] == my -> gone[i] = true
  :: else
  fi
}

inline claim() {
  atomic {
    claims < CLAIMS && LIVE && (step[0] == READY || step[1] == READY);
    if
    :: step[0] == READY -> i = 0
    :: step[1] == READY -> i = 1
    fi;
    claims++;
    fence++;
    my = fence;
    token[i] = my;
    step[i] = BUSY
  }
}

inline begin() {
  d_step {
    report = STOP;
    if
    :: HOLDS(i, my) && intent[i] == CONFIRMED -> step[i] = ENDED; derive()
    :: HOLDS(i, my) && intent[i] == DISPATCHED -> lose(i)
    :: HOLDS(i, my) && PLANNABLE && SENDABLE(i) && COVERED(i) ->
      assert(state == RUNNING && approved[i]);
      report = GO;
      dispatch[i] = my;
      gone[i] = false;
      after[i] = false;
#ifndef NOCONSUME
      grant[i] = CONSUMED;
#endif
#ifndef FORGETINTENT
      intent[i] = DISPATCHED
#endif
    :: HOLDS(i, my) && !PLANNABLE && intent[i] != CONFIRMED && intent[i] != DISPATCHED ->
      intent[i] = VOIDED; step[i] = ENDED; derive()
    :: else
    fi
  }
}

/* Yes is the truth of the world, whoever says it; everything else is heard from the holder alone. */
inline record() {
  d_step {
    if
    :: report == YES && (intent[i] == ABANDONED || intent[i] == VOIDED)
    :: report == YES && MAYREPORT(i, my) -> intent[i] = CONFIRMED; asked[i] = false; step[i] = ENDED
    :: report == YES && !MAYREPORT(i, my) && intent[i] != ABANDONED && intent[i] != VOIDED ->
      intent[i] = CONFIRMED;
      asked[i] = false;
      said[i] = NOTHING;
      if
      :: step[i] == LOST -> step[i] = ENDED
      :: else
      fi
    :: report == NO && MAYREPORT(i, my) -> intent[i] = VOIDED; step[i] = ENDED
    :: report == DIED && MAYREPORT(i, my) ->
      if
      :: intent[i] == DISPATCHED -> lose(i)
      :: else -> step[i] = READY
      fi
    :: else
    fi;
    derive()
  }
}

active [2] proctype Node() {
  byte i, my, report, k;
end:
  do
  :: claim();
    begin();
    if
    :: report == GO ->
      if
      :: atomic { send(i, my) }
      :: report = NO                                    /* refused by the far side, or never handed over */
      :: d_step { report = NO; proof(i, my) }           /* the same, and then the child ends */
      :: d_step { report = DIED; proof(i, my) }         /* the child dies before the send */
      :: atomic { send(i, my); report = DIED; proof(i, my) } /* and after it */
      fi;
      if
      :: record()
      :: d_step { proof(i, my) }; break                 /* the node dies, and its lock is released */
      fi
    :: else
    fi;
    i = 0; my = 0; report = STOP
  od
}

/* A sweep that finds a lease run out, however healthy its holder. */
active proctype Sweep() {
  byte i, k;
end:
  do
  :: expiries < EXPIRIES && (step[0] == BUSY || step[1] == BUSY) ->
    atomic {
      if
      :: step[0] == BUSY -> i = 0
      :: step[1] == BUSY -> i = 1
      :: else -> i = STEPS
      fi;
      if
      :: i < STEPS && intent[i] == DISPATCHED ->
        expiries++;
#ifdef BLINDRETRY
        intent[i] = AUTHORISED; step[i] = READY
#else
        lose(i)
#endif
      :: i < STEPS && intent[i] != DISPATCHED && state == RUNNING -> expiries++; step[i] = READY
      :: i < STEPS && intent[i] != DISPATCHED && state != RUNNING -> expiries++; step[i] = ENDED; derive()
      :: else
      fi;
      i = 0
    }
  :: !LIVE -> break
  od
}

inline apply() {
  if
  :: said[i] == NOTHAPPENED && !STILLTRUE(i) -> said[i] = NOTHING; asked[i] = true
  :: said[i] == NOTHAPPENED && STILLTRUE(i) ->
    said[i] = NOTHING;
    if
    :: state == RUNNING ->
#ifdef DEDUP
      repeated[i] = repeated[i] || !after[i];
#endif
      intent[i] = AUTHORISED; step[i] = READY
    :: else -> intent[i] = VOIDED; step[i] = ENDED
    fi
  :: said[i] == HAPPENED || said[i] == NOBODYKNOWS -> said[i] = NOTHING; step[i] = ENDED
  fi;
  derive();
  i = 0
}

/* Applies what people decided. */
active proctype Engine() {
  byte i, k;
end:
  do
  :: d_step { state == RUNNING && step[0] == WAITING && COVERED(0) -> step[0] = READY }
  :: d_step { state == RUNNING && step[1] == WAITING && COVERED(1) -> step[1] = READY }
  :: d_step { step[0] == LOST && said[0] != NOTHING && (said[0] != NOTHAPPENED || MAYGOON(0)) -> i = 0; apply() }
  :: d_step { step[1] == LOST && said[1] != NOTHING && (said[1] != NOTHAPPENED || MAYGOON(1)) -> i = 1; apply() }
  :: !LIVE -> break
  od
}

inline decide() {
  if
  :: grant[i] = GRANTED; approved[i] = true; intent[i] = AUTHORISED
  :: grant[i] = TAKENBACK; intent[i] = VOIDED; step[i] = ENDED
  fi;
  i = 0
}

inline settle() {
  answers++;
  if
  :: effects[i] == 1 -> said[i] = HAPPENED; intent[i] = CONFIRMED
  :: effects[i] == 0 -> 
    said[i] = NOTHAPPENED;
#ifdef GATEWAY
    gate[i] = dispatch[i] + 1;
#endif
    after[i] = gone[i]
  :: said[i] = NOBODYKNOWS; intent[i] = ABANDONED
  fi;
  asked[i] = false;
  i = 0
}

inline cancel() {
  state = CANCELLING;
  for (i : 0 .. STEPS - 1) {
    if
    :: step[i] == WAITING || step[i] == READY ->
      step[i] = ENDED;
      if
      :: intent[i] == PROPOSED || intent[i] == AUTHORISED -> intent[i] = VOIDED
      :: else
      fi
    :: else
    fi;
    if
    :: grant[i] == GRANTED ->
      grant[i] = TAKENBACK;
      if
      :: intent[i] == AUTHORISED -> intent[i] = PROPOSED
      :: else
      fi
    :: else
    fi
  }
  derive();
  i = 0
}

/* One person in every role. Says what is true at the moment of looking. */
active proctype Person() {
  byte i, k;
end:
  do
  :: atomic { state == RUNNING && intent[0] == PROPOSED && grant[0] == NONE -> i = 0; decide() }
  :: atomic { state == RUNNING && intent[1] == PROPOSED && grant[1] == NONE -> i = 1; decide() }
  :: d_step { state == RUNNING -> cancel() }
  :: atomic { asked[0] && answers < ANSWERS -> i = 0; settle() }
  :: atomic { asked[1] && answers < ANSWERS -> i = 1; settle() }
  :: !LIVE -> break
  od
}

/* Reads, thinks, and ends the run with what it read. */
active proctype Planner() {
  byte k;
end:
  do
  :: state == RUNNING && OVER ->
    skip;                                               /* the agent thinks; a cancel may come */
    d_step {
#ifdef NOTERMINAL
      if
      :: true -> finish(SUCCEEDED)
      fi
#else
      if
      :: state == RUNNING -> finish(SUCCEEDED)
      :: else
      fi
#endif
    }
  :: !LIVE -> break
  od
}

/* What holds at every moment, and what must be so when nothing can move any more. */
#define SOMEBODYKNOWS(i) (intent[i] != UNSURE || asked[i] || said[i] != NOTHING)
#define HONEST(i) ((intent[i] != CONFIRMED || effects[i] == 1) && (intent[i] != VOIDED || effects[i] == 0 || repeated[i]))

#define WAITSFORPROOF(i) (said[i] == NOTHAPPENED && !gone[i])

active proctype Watch() {
end:
  do
  :: atomic { !(SOMEBODYKNOWS(0) && SOMEBODYKNOWS(1)) -> assert(SOMEBODYKNOWS(0) && SOMEBODYKNOWS(1)) }
  :: atomic { !(HONEST(0) && HONEST(1)) -> assert(HONEST(0) && HONEST(1)) }
  :: atomic { timeout ->
      /* At rest: ended, or a person has something to do, or this small world ran out of claims, expiries and nodes. */
      assert(!LIVE || asked[0] || asked[1] || claims == CLAIMS || expiries == EXPIRIES || step[0] == READY
             || step[1] == READY || WAITSFORPROOF(0) || WAITSFORPROOF(1));
      break }
  od
}
