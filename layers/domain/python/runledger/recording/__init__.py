"""The write protocol: decide what an input means, write the history, apply the effects, save the job."""
